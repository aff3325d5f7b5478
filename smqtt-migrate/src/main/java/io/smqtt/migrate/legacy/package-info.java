// SPDX-License-Identifier: Apache-2.0
/** The management paths and configuration keys of the former smqtt, for existing programs and scripts. */
@NullMarked
package io.smqtt.migrate.legacy;

import org.jspecify.annotations.NullMarked;
