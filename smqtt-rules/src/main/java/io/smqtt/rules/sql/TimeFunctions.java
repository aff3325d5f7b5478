// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of times. */
final class TimeFunctions {

    private TimeFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
