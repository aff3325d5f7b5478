// SPDX-License-Identifier: Apache-2.0
/** The figures of the broker over time: their history, and what is live. */
@NullMarked
package io.smqtt.admin.monitor;

import org.jspecify.annotations.NullMarked;
