// What the replicas of a case told, made one result. Plain values, pure, thread-safe, nothing fails.
#pragma once

#include <vector>

#include "bench/run/protocol.h"

namespace hbmark {

// Why a replica ended a case that another had ended: never the case's own reason.
inline constexpr const char* kEndedByAnother = "another replica ended the case";

// Of a replica: "replica 2 of 4: ", counted from 1 as a person does; empty when there is one alone.
std::string replica_prefix(std::size_t replica, std::size_t replicas);

// `told` in the order of the replicas, one at least. Times and figures of sampling are the first replica's, which has them
// of all; work (FLOP, bytes) and checks add up; pages are the mean of the shares. The outcome is that of the first that
// failed by itself.
Event merge_replicas(std::vector<Event> told);

}  // namespace hbmark
