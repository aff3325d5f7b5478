// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The first of many as the endpoint shows them, and how many there are; only the first are kept. For one thread. */
final class Page<T> {

    private final int most;
    private final Function<? super T, Map<String, Object>> shape;
    private final List<Map<String, Object>> shown = new ArrayList<>();
    private int total;

    /**
     * Creates an empty page.
     *
     * @param most how many are shown
     * @param shape what is shown of one
     */
    Page(int most, Function<? super T, Map<String, Object>> shape) {
        this.most = most;
        this.shape = shape;
    }

    /** Counts one, and shows it while there is place. */
    void add(T one) {
        total++;
        if (shown.size() < most) {
            shown.add(shape.apply(one));
        }
    }

    /** {@return the total, and those that are shown under the name} */
    Map<String, Object> as(String name) {
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("total", total);
        page.put(name, shown);
        return page;
    }
}
