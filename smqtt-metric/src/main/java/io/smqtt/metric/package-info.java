// SPDX-License-Identifier: Apache-2.0
/** Metrics, health, status topics and traces of a broker, from its observer. */
@NullMarked
package io.smqtt.metric;

import org.jspecify.annotations.NullMarked;
