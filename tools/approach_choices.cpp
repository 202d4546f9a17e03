#include "tools/approach_choices.h"

#include "tools/choice.h"
#include "tools/option_values.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

template <class T>
bool holds(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

template <class T>
void add_new(std::vector<T>& values, T value) {
  if (!holds(values, value)) values.push_back(std::move(value));
}

bool is_analysed(Policy policy, Variant variant) {
  return !availability_error(policy, variant);
}

// The values of the words in place of those before, if there are words.
template <class T>
void replace(std::vector<T>& values, std::string_view option, const std::vector<std::string>& words,
             const std::vector<OptionChoice<T>>& choices, Errors& errors) {
  if (words.empty()) return;
  values.clear();
  for (const std::string& word : words) {
    const Result<T> value = choose<T>(option, word, choices);
    if (value) {
      add_new(values, *value);
    } else {
      errors.insert(errors.end(), value.errors().begin(), value.errors().end());
    }
  }
}

void replace_policies(ApproachChoices& choices, const std::vector<std::string>& words, Errors& errors) {
  if (words.empty()) return;
  std::vector<OptionChoice<Policy>> known;
  for (const Policy policy : all_policies()) known.push_back({to_string(policy), policy});
  std::vector<std::string> named;
  for (const std::string& word : words) {
    if (word != "all") named.push_back(word);
  }
  choices.all_policies = named.size() < words.size();
  replace(choices.policies, "--policy", named, known, errors);
}

// "both" is short for all of them.
std::vector<std::string> without_both(std::vector<std::string> words, const std::vector<std::string>& all) {
  const auto both = std::find(words.begin(), words.end(), "both");
  return both == words.end() ? words : all;
}

std::vector<Policy> policies_to_combine(const ApproachChoices& choices) {
  if (!choices.all_policies) return choices.policies;
  std::vector<Policy> policies;
  for (const AnalysisEntry& entry : analyses()) {
    if (holds(choices.variants, entry.variant)) add_new(policies, entry.policy);
  }
  return policies;
}

// The variants of the policy that there are. Of a policy that is named, those that are missing are told.
std::vector<Variant> variants_of(Policy policy, const ApproachChoices& choices, std::vector<std::string>& notes,
                                 Errors& errors) {
  std::vector<Variant> variants;
  for (const Variant variant : choices.variants) {
    if (is_analysed(policy, variant)) variants.push_back(variant);
  }
  if (variants.empty()) {
    Error error = *availability_error(policy, choices.variants.front());
    error.place.source = "--policy";
    errors.push_back(std::move(error));
  } else if (variants.size() < choices.variants.size() && !choices.all_policies) {
    notes.push_back(fmt::format("there is only a {} analysis of {}", to_string(variants.front()), to_string(policy)));
  }
  return variants;
}

class Combination {
 public:
  Combination(const ApproachChoices& choices, std::vector<std::string>& notes, Errors& errors)
      : choices_(choices), notes_(notes), errors_(errors) {}

  std::vector<Approach> make() {
    const std::vector<Policy> policies = policies_to_combine(choices_);
    for (const Policy policy : policies) {
      const std::vector<Variant> variants = variants_of(policy, choices_, notes_, errors_);
      for (const GpuPriorities gpu_priorities : choices_.gpu_priorities) {
        for (const WaitChoice wait : choices_.waits) {
          for (const Variant variant : variants) add({policy, wait, variant, gpu_priorities, choices_.jitter});
        }
      }
    }
    tell_of_search();
    return std::move(approaches_);
  }

 private:
  // Where GPU priorities cannot be searched, those of the tasksets are used.
  void add(Approach approach) {
    if (approach.gpu_priorities == GpuPriorities::search) {
      if (can_search_gpu_priorities(approach.policy, approach.variant)) {
        any_search_ = true;
      } else {
        approach.gpu_priorities = GpuPriorities::file;
        add_new(without_search_, fmt::format("{} {}", to_string(approach.variant), to_string(approach.policy)));
      }
    }
    add_new(approaches_, approach);
  }

  void tell_of_search() {
    if (without_search_.empty()) return;
    const std::string names = fmt::format("{}", fmt::join(without_search_, ", "));
    if (any_search_) {
      notes_.push_back(
          fmt::format("there is no search of GPU priorities for {}: those of the tasksets are used there", names));
    } else {
      errors_.push_back(option_error(ErrorCode::unsupported, "--gpu-priorities", fmt::format("'search' for {}", names),
                                     "a policy whose analysis can search GPU priorities",
                                     "Leave the option out, or choose another policy."));
    }
  }

  const ApproachChoices& choices_;
  std::vector<std::string>& notes_;
  Errors& errors_;
  std::vector<Approach> approaches_;
  std::vector<std::string> without_search_;
  bool any_search_ = false;
};

}  // namespace

ApproachChoices choices_of(const std::vector<Approach>& approaches) {
  ApproachChoices choices;
  for (const Approach& approach : approaches) {
    add_new(choices.policies, approach.policy);
    add_new(choices.waits, approach.wait);
    add_new(choices.variants, approach.variant);
    add_new(choices.gpu_priorities, approach.gpu_priorities);
    choices.jitter = approach.jitter;
  }
  return choices;
}

void choose_approaches(ApproachChoices& choices, const ApproachArguments& arguments, Errors& errors) {
  replace_policies(choices, arguments.policies, errors);
  replace<WaitChoice>(choices.waits, "--wait", without_both(arguments.waits, {"suspend", "busy"}),
                      {{"suspend", WaitChoice::suspend}, {"busy", WaitChoice::busy}, {"file", WaitChoice::file}},
                      errors);
  replace<Variant>(choices.variants, "--variant", without_both(arguments.variants, {"safe", "published"}),
                   {{"safe", Variant::safe}, {"published", Variant::published}}, errors);
  replace<GpuPriorities>(choices.gpu_priorities, "--gpu-priorities",
                         without_both(arguments.gpu_priorities, {"file", "search"}),
                         {{"file", GpuPriorities::file}, {"search", GpuPriorities::search}}, errors);
  if (arguments.jitter.empty()) return;
  choices.jitter = value_or_report(
      choose<JitterSource>("--jitter", arguments.jitter,
                           {{"response", JitterSource::response}, {"deadline", JitterSource::deadline}}),
      errors);
}

std::vector<Approach> combine(const ApproachChoices& choices, std::vector<std::string>& notes, Errors& errors) {
  if (choices.waits.empty() || choices.variants.empty() || choices.gpu_priorities.empty()) return {};
  return Combination(choices, notes, errors).make();
}

}  // namespace rtgpu
