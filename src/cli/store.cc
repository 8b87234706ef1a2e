#include <cstdio>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "store/query.h"

namespace kw {
namespace {

struct StoreOptions {
  std::string store, file, device_file;
  bool failures = false, samples = false;
  int keep_best = -1;
};

// The facts of the one device whose measurements a table holds; the recorded target needs them beside the
// table.
Result<std::string> find_device_of(const Store& store) {
  KW_TRY(const std::vector<RunRow> runs, list_runs(store));
  std::string facts;
  for (const RunRow& row : runs) {
    if (row.imported) continue;
    const std::string here = print_json(print_device(row.run.device), 2) + "\n";
    if (!facts.empty()) {
      const auto known = parse_device(*parse_json(facts, "device"));
      if (known->key() != row.run.device.key())
        return fail_user(
            "the store holds measurements of several devices or thread counts ({} and {}); --device-out "
            "needs one",
            known->key(), row.run.device.key());
    }
    facts = here;
  }
  if (facts.empty())
    return fail_user("the store holds no run of a device; --device-out has nothing to write");
  return facts;
}

int run_merge(const StoreOptions& options) {
  auto store = Store::open(options.store);
  if (!store) return explain(store.error());
  if (const auto done = store->merge(options.file); !done) return explain(done.error());
  std::printf("joined %s into %s\n", options.file.c_str(), options.store.c_str());
  return kExitOk;
}

int run_export(const StoreOptions& options) {
  const auto store = Store::open_read_only(options.store);
  if (!store) return explain(store.error());
  auto csv = export_measurements(*store);
  if (!csv) {
    const auto salvage = salvage_measurements(*store);
    if (!salvage) return explain(csv.error());
    std::fprintf(stderr, "kernelwright: %s; %ld evaluations could not be read and are left out\n",
                 csv.error().message.c_str(), static_cast<long>(salvage->unreadable));
    csv = salvage->csv;
  }
  if (options.file.empty() || options.file == "-") {
    std::printf("%s", csv->c_str());
  } else if (const auto written = write_file_atomically(options.file, *csv); !written) {
    return explain(written.error());
  }
  if (options.device_file.empty()) return kExitOk;
  const auto device = find_device_of(*store);
  if (!device) return explain(device.error());
  if (const auto written = write_file_atomically(options.device_file, *device); !written)
    return explain(written.error());
  return kExitOk;
}

int run_import(const StoreOptions& options) {
  const auto csv = read_file(options.file);
  if (!csv) return explain(csv.error());
  auto store = Store::open(options.store);
  if (!store) return explain(store.error());
  if (const auto done = store->import_measurements(*csv, options.file); !done) return explain(done.error());
  std::printf("imported %s into %s\n", options.file.c_str(), options.store.c_str());
  return kExitOk;
}

int run_clean(const StoreOptions& options) {
  if (!options.failures && !options.samples && options.keep_best < 0)
    return explain(Error{"nothing to clean: give --failures, --samples or --keep-best N", ErrorKind::kUser});
  auto store = Store::open(options.store);
  if (!store) return explain(store.error());
  const auto rows = store->clean({options.failures, options.samples, options.keep_best});
  if (!rows) return explain(rows.error());
  std::printf("%ld rows removed from %s\n", static_cast<long>(*rows), options.store.c_str());
  return kExitOk;
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("store", "stores are files: join, export, import, prune them");
  command->require_subcommand(1);
  auto options = std::make_shared<StoreOptions>();

  auto* merge = command->add_subcommand("merge", "take everything of another store into this one");
  merge->add_option("file", options->file, "the other store")->required();
  add_store_option(*merge, options->store);
  merge->callback([options, &exit_code] { exit_code = run_merge(*options); });

  auto* write = command->add_subcommand("export", "measurements as a CSV table, for --target recorded");
  write->add_option("--out", options->file, "file; standard output when left out");
  write->add_option("--device-out", options->device_file, "also write the device's facts there, as JSON");
  add_store_option(*write, options->store);
  write->callback([options, &exit_code] { exit_code = run_export(*options); });

  auto* read = command->add_subcommand("import", "a table written by export");
  read->add_option("file", options->file, "the CSV table")->required();
  add_store_option(*read, options->store);
  read->callback([options, &exit_code] { exit_code = run_import(*options); });

  auto* clean = command->add_subcommand("clean", "delete what no decision needs");
  clean->add_flag("--failures", options->failures, "kernels that were refused (they will be tried again)");
  clean->add_flag("--samples", options->samples, "single samples; medians and intervals stay");
  clean->add_option("--keep-best", options->keep_best, "all but the best N kernels of each shape");
  add_store_option(*clean, options->store);
  clean->callback([options, &exit_code] { exit_code = run_clean(*options); });
}

}  // namespace kw
