// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Figures as a map. For one thread. */
final class FigureMap implements FigureSink {

    private final Map<String, Object> all = new LinkedHashMap<>();

    /**
     * Collects figures.
     *
     * @param content puts the figures
     * @return the figures by name, in their order; may be changed
     */
    static Map<String, Object> of(Consumer<FigureSink> content) {
        FigureMap map = new FigureMap();
        content.accept(map);
        return map.all;
    }

    @Override
    public void put(String name, long value) {
        all.put(name, value);
    }

    @Override
    public void put(String name, double value) {
        all.put(name, Math.rint(value * 100) / 100);
    }

    @Override
    public void put(String name, Consumer<FigureSink> content) {
        all.put(name, of(content));
    }
}
