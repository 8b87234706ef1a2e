// Fuzz targets: one function for each parser of outside text. In: any bytes. Out: nothing; a property that
// does not hold stops the program (KW_CHECK), as a crash does. Called by libfuzzer_main.cc, which makes
// inputs up, and by corpus_main.cc, which runs the kept ones as tests.
#pragma once

#include <string_view>

#include "base/result.h"

namespace kw::fuzz {

void run_certificate(std::string_view input);
void run_device(std::string_view input);
void run_expression(std::string_view input);
void run_json(std::string_view input);
void run_launch(std::string_view input);
void run_llm_answer(std::string_view input);
void run_measurements(std::string_view input);
void run_model(std::string_view input);
void run_object(std::string_view input);
void run_problem(std::string_view input);
void run_recorded(std::string_view input);
void run_schedule(std::string_view input);
void run_shapes_csv(std::string_view input);
void run_source_rules(std::string_view input);
void run_stored_row(std::string_view input);

// What every message must be: one printable line of bounded length that is not empty.
void demand_line(std::string_view message);
// The same for an error about outside text, which is the user's to mend.
void demand_plain(const Error& error);
// The text can stand in a JSON document and on a terminal: UTF-8 of at most `most_bytes`.
void demand_text(std::string_view text, size_t most_bytes);

}  // namespace kw::fuzz
