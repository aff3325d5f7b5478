// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds rings in a graph of types: sets of types that all depend on each other, directly or over others (strongly connected
 * components, by the algorithm of Tarjan). Types without a ring are not reported.
 */
final class TypeRings {

    private final Map<String, ? extends Collection<String>> dependencies;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final List<Set<String>> rings = new ArrayList<>();

    private TypeRings(Map<String, ? extends Collection<String>> dependencies) {
        this.dependencies = dependencies;
    }

    /**
     * Finds all rings.
     *
     * @param dependencies each type with the types that it depends on; others than keys are ignored
     * @return the rings of at least two types, the largest one first
     */
    static List<Set<String>> of(Map<String, ? extends Collection<String>> dependencies) {
        TypeRings search = new TypeRings(dependencies);
        new TreeSet<>(dependencies.keySet()).forEach(type -> {
            if (!search.numbers.containsKey(type)) {
                search.visit(type);
            }
        });
        search.rings.sort((a, b) -> b.size() - a.size());
        return search.rings;
    }

    private int visit(String type) {
        int number = numbers.size();
        numbers.put(type, number);
        lowest.put(type, number);
        open.push(type);
        for (String next : dependencies.get(type)) {
            if (!dependencies.containsKey(next)) {
                continue;
            }
            if (!numbers.containsKey(next)) {
                lowest.merge(type, visit(next), Math::min);
            } else if (open.contains(next)) {
                lowest.merge(type, numbers.get(next), Math::min);
            }
        }
        if (lowest.get(type) == number) {
            close(type);
        }
        return lowest.get(type);
    }

    private void close(String first) {
        Set<String> ring = new TreeSet<>();
        String last;
        do {
            last = open.pop();
            ring.add(last);
        } while (!last.equals(first));
        if (ring.size() > 1) {
            rings.add(ring);
        }
    }
}
