// SPDX-License-Identifier: Apache-2.0
/** What programs and scripts of the former smqtt ask of a running broker. */
@NullMarked
package io.smqtt.migrate.legacy;

import org.jspecify.annotations.NullMarked;
