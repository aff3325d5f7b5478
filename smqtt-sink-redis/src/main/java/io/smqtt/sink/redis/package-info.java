// SPDX-License-Identifier: Apache-2.0
/** The sink of type {@code redis}: rows of rules as commands of Redis. */
@NullMarked
package io.smqtt.sink.redis;

import org.jspecify.annotations.NullMarked;
