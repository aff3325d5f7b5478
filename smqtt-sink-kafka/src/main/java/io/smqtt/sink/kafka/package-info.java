// SPDX-License-Identifier: Apache-2.0
/** The sink type {@code kafka}: rows of rules as records of Kafka. */
@NullMarked
package io.smqtt.sink.kafka;

import org.jspecify.annotations.NullMarked;
