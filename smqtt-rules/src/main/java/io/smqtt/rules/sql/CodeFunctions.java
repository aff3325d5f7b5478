// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of codes. */
final class CodeFunctions {

    private CodeFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
