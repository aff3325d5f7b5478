// SPDX-License-Identifier: Apache-2.0
/** The levels of loggers while the broker runs. */
@NullMarked
package io.smqtt.admin.log;

import org.jspecify.annotations.NullMarked;
