#pragma once

// All that a LibTorch program of one's own needs: layers and units, schedules and policies, schemes
// and executors, the zoo's networks, and the trainer for whole runs. Programs that use the core
// alone (bitcycle::core, no LibTorch) include the headers that they need.

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/events/event_sink.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/dropout.h"
#include "bitcycle/nn/execution.h"
#include "bitcycle/nn/lstm_layer.h"
#include "bitcycle/nn/quant_conv.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/schedule/spec.h"
#include "bitcycle/tasks/task.h"
#include "bitcycle/train/run_parts.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/trainer.h"
#include "bitcycle/train/weights.h"
