// SPDX-License-Identifier: Apache-2.0
/** Watches a broker through its observer and shows what it sees. */
@NullMarked
package io.smqtt.metric;

import org.jspecify.annotations.NullMarked;
