// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.message.ApplicationMessage;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A row that a rule has made of a message.
 *
 * @param row the columns; lists and maps in it must not be changed
 * @param origin the message
 */
public record SinkRecord(Map<String, @Nullable Object> row, ApplicationMessage origin) {}
