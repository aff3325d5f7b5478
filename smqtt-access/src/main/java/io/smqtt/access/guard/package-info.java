// SPDX-License-Identifier: Apache-2.0
/** The protection of the broker against a slow or failing backend: limits, deadline, circuit breaker, single flight and caches. */
@NullMarked
package io.smqtt.access.guard;

import org.jspecify.annotations.NullMarked;
