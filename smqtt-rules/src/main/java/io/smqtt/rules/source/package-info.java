// SPDX-License-Identifier: Apache-2.0
/** Sources: places from which messages come into the broker, each read by one node or by all. */
@NullMarked
package io.smqtt.rules.source;

import org.jspecify.annotations.NullMarked;
