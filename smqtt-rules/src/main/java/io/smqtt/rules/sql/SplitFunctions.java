// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of text. */
final class SplitFunctions {

    private SplitFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
