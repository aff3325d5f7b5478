// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.util.Locale;

/** Converts constants to tag values. */
final class Tagged {

    private Tagged() {}

    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
