// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;

/** Functions of events. */
final class EventFunctions {

    private EventFunctions() {}

    static List<Function> all() {
        return new Functions.Family().functions();
    }
}
