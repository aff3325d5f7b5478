// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ReasonCode;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The default reason strings: the names of the reason codes. */
final class ReasonTexts {

    private static final Map<ReasonCode, String> TEXTS = new EnumMap<>(ReasonCode.class);

    static {
        for (ReasonCode reason : ReasonCode.values()) {
            TEXTS.put(reason, reason.name().toLowerCase(Locale.ROOT).replace('_', ' '));
        }
    }

    private ReasonTexts() {}

    static String of(ReasonCode reason) {
        return TEXTS.getOrDefault(reason, "");
    }
}
