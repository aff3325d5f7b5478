// SPDX-License-Identifier: Apache-2.0
package io.smqtt.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Which parts of the code may know which others.
 *
 * @param allowed per part those that it may know; a part that is not listed must not exist
 * @param partOf the part that a package belongs to, or {@link #ELSEWHERE} for packages that are not ours
 */
public record Edges(Map<String, Set<String>> allowed, Function<String, String> partOf) {

    /** What {@link #partOf} returns for packages that are not ours. */
    public static final String ELSEWHERE = "";

    /**
     * Finds what breaks the table.
     *
     * @param classes the classes to look at
     * @return one line for each dependency that is not allowed, empty if there is none
     */
    public List<String> violations(Iterable<JavaClass> classes) {
        return stream(classes)
                .flatMap(origin -> origin.getDirectDependenciesFromSelf().stream())
                .filter(this::isForbidden)
                .map(Dependency::getDescription)
                .sorted()
                .toList();
    }

    /**
     * Finds parts that the table does not know.
     *
     * @param classes the classes to look at
     * @return their names, without repetition
     */
    public List<String> unknownParts(Iterable<JavaClass> classes) {
        return stream(classes)
                .map(origin -> partOf.apply(origin.getPackageName()))
                .filter(part -> !allowed.containsKey(part))
                .distinct()
                .sorted()
                .toList();
    }

    private boolean isForbidden(Dependency dependency) {
        String from = partOf.apply(dependency.getOriginClass().getPackageName());
        String to =
                partOf.apply(dependency.getTargetClass().getBaseComponentType().getPackageName());
        boolean known = to.equals(ELSEWHERE) || to.equals(from);
        return !known && !allowed.getOrDefault(from, Set.of()).contains(to);
    }

    private static Stream<JavaClass> stream(Iterable<JavaClass> classes) {
        return StreamSupport.stream(classes.spliterator(), false);
    }
}
