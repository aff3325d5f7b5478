// SPDX-License-Identifier: Apache-2.0
/** The source type {@code http}: a listener whose requests become messages. */
@NullMarked
package io.smqtt.rules.source.http;

import org.jspecify.annotations.NullMarked;
