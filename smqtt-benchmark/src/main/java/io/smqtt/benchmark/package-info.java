// SPDX-License-Identifier: Apache-2.0
/** What the broker costs. */
@NullMarked
package io.smqtt.benchmark;

import org.jspecify.annotations.NullMarked;
