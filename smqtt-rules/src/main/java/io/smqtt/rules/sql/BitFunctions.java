// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of bits. */
final class BitFunctions {

    private BitFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
