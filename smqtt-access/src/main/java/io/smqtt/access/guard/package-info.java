// SPDX-License-Identifier: Apache-2.0
/** What stands between the broker and a backend: limits, deadline, circuit breaker, single flight and caches. */
@NullMarked
package io.smqtt.access.guard;

import org.jspecify.annotations.NullMarked;
