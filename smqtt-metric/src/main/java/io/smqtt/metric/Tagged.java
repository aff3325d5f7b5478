// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.util.Locale;

/** Constants as values of tags. */
final class Tagged {

    private Tagged() {}

    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
