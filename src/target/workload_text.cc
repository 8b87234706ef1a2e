// JSON with the fields of Workload; scalars keep their exact bits through JSON's shortest round-trip form.
#include "target/workload_text.h"

#include "base/json.h"

namespace kw {

std::string print_workload_text(const Workload& workload) {
  Json operands = Json::array();
  for (const Operand& operand : workload.operands)
    operands.push_back({{"name", operand.name},
                        {"dtype", print_dtype(operand.dtype)},
                        {"rows", operand.rows},
                        {"cols", operand.cols},
                        {"ld", operand.ld},
                        {"access", static_cast<int>(operand.access)}});
  return Json{{"problem", print_problem(workload.problem)},
              {"operands", operands},
              {"size_names", workload.size_names},
              {"sizes", workload.sizes},
              {"scalars", workload.scalars},
              {"flops", workload.flops},
              {"bytes", workload.bytes}}
      .dump();
}

Result<Workload> parse_workload_text(std::string_view text) {
  KW_TRY(const Json json, parse_json(text, "workload"));
  Workload workload;
  KW_TRY(workload.problem, parse_problem(json.at("problem").get<std::string>()));
  for (const Json& entry : json.at("operands")) {
    Operand operand;
    operand.name = entry.at("name");
    KW_TRY(operand.dtype, parse_dtype(entry.at("dtype").get<std::string>()));
    operand.rows = entry.at("rows");
    operand.cols = entry.at("cols");
    operand.ld = entry.at("ld");
    operand.access = static_cast<Access>(entry.at("access").get<int>());
    workload.operands.push_back(std::move(operand));
  }
  workload.size_names = json.at("size_names").get<std::vector<std::string>>();
  workload.sizes = json.at("sizes").get<std::vector<int64_t>>();
  workload.scalars = json.at("scalars").get<std::vector<double>>();
  workload.flops = json.at("flops");
  workload.bytes = json.at("bytes");
  return workload;
}

}  // namespace kw
