// SPDX-License-Identifier: Apache-2.0
/** Checks of payloads. */
@NullMarked
package io.smqtt.rules.validation;

import org.jspecify.annotations.NullMarked;
