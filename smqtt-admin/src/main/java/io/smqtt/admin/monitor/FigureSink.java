// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import java.util.function.Consumer;

/** Takes figures by their names in JSON, in order. */
sealed interface FigureSink permits FigureMap, FigureText {

    /** Takes a whole number. */
    void put(String name, long value);

    /** Takes a finite number, rounded to hundredths. */
    void put(String name, double value);

    /** Takes an object with figures of its own. */
    void put(String name, Consumer<FigureSink> content);
}
