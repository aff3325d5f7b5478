// SPDX-License-Identifier: Apache-2.0
/** The backend type {@code redis}: users and access rules in Redis, with the keys of EMQX or of mosquitto-go-auth. */
@NullMarked
package io.smqtt.access.redis;

import org.jspecify.annotations.NullMarked;
