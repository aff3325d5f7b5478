// SPDX-License-Identifier: Apache-2.0
/** The JSON Schemas of checks of payloads, as live objects. */
@NullMarked
package io.smqtt.admin.schema;

import org.jspecify.annotations.NullMarked;
