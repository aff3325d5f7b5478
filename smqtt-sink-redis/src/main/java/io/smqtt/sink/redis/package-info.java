// SPDX-License-Identifier: Apache-2.0
/** The sink and the source of type {@code redis}: rows of rules as commands of Redis, and its streams as messages. */
@NullMarked
package io.smqtt.sink.redis;

import org.jspecify.annotations.NullMarked;
