// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of types. */
final class TypeFunctions {

    private TypeFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
