// SPDX-License-Identifier: Apache-2.0
/** Counts of the messages of single topics and filters. */
@NullMarked
package io.smqtt.admin.topic;

import org.jspecify.annotations.NullMarked;
