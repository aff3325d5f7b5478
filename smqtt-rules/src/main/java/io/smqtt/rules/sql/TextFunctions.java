// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of text. */
final class TextFunctions {

    private TextFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
