// Results of simulations in each of the formats.
#pragma once

#include "tools/format/report.h"
#include "tools/format/simulation_report.h"

#include <string>

namespace rtgpu {

// Text for people, with times in milliseconds.
void append_table(std::string& out, const SimulationReport& report);

// Everything that is known; indented if it is the only document of its input, else a line with its index.
void append_json(std::string& out, const SimulationReport& report);
// A document without an answer.
void append_simulation_failure(std::string& out, const DocumentFailure& failure);

// One short line a document: misses and longest responses, in the order of the tasks.
void append_ndjson(std::string& out, const SimulationReport& report);

// A row for each task under each policy. What does not apply is empty.
void append_simulation_csv_header(std::string& out);
void append_csv(std::string& out, const SimulationReport& report);
void append_simulation_csv_failure(std::string& out, const DocumentFailure& failure);

}  // namespace rtgpu
