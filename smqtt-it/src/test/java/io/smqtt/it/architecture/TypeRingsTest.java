// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Inside a package at most {@value #MOST} types depend on each other in a ring, nested types counted with their outer one. */
class TypeRingsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int MOST = 6;

    private static final List<String> MODULES = List.of(
            "core",
            "persistence",
            "replication",
            "cluster",
            "metric",
            "access",
            "access-ldap",
            "access-redis",
            "access-sql",
            "admin",
            "bridge",
            "rules",
            "sink-jdbc",
            "sink-kafka",
            "sink-rabbitmq",
            "sink-redis",
            "bootstrap",
            "migrate",
            "spring-boot-starter",
            "bench",
            "benchmark",
            "test");

    @Test
    void noPackageHasALargeRing() {
        Map<String, Map<String, Set<String>>> packages = packages();
        Map<String, Set<String>> large = new TreeMap<>();
        packages.forEach((name, types) -> {
            List<Set<String>> rings = TypeRings.of(types);
            if (!rings.isEmpty() && rings.get(0).size() > MOST) {
                large.put(name, rings.get(0));
            }
        });

        assertThat(packages).hasSizeGreaterThan(25);
        assertThat(large).as("rings of more than %d types", MOST).isEmpty();
    }

    @Test
    void findsTheRingsOfAGraph() {
        Map<String, List<String>> graph = Map.of(
                "a", List.of("b", "a"),
                "b", List.of("c", "d", "elsewhere"),
                "c", List.of("a"),
                "d", List.of("e"),
                "e", List.of("d"),
                "f", List.of("a", "e"));

        assertThat(TypeRings.of(graph)).containsExactly(Set.of("a", "b", "c"), Set.of("d", "e"));
    }

    /** The dependencies of each type on types of its own package, by package. */
    private static Map<String, Map<String, Set<String>>> packages() {
        Stream<Path> classes =
                MODULES.stream().map(module -> ROOT.resolve("smqtt-" + module).resolve("target/classes"));
        JavaClasses all = new ClassFileImporter().importPaths(classes.toList());
        Map<String, Map<String, Set<String>>> packages = new TreeMap<>();
        for (JavaClass from : all) {
            Set<String> targets = packages.computeIfAbsent(from.getPackageName(), name -> new TreeMap<>())
                    .computeIfAbsent(outermost(from), name -> new TreeSet<>());
            from.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getPackageName().equals(from.getPackageName()))
                    .map(TypeRingsTest::outermost)
                    .forEach(targets::add);
        }
        return packages;
    }

    private static String outermost(JavaClass type) {
        return type.getEnclosingClass().map(TypeRingsTest::outermost).orElse(type.getSimpleName());
    }
}
