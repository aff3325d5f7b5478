// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.smqtt.architecture.Edges;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Edges between modules go downward only: each knows the core, and only the composition root knows the others. */
class ModuleEdgesTest {

    /** Each module with all others that it may use. */
    private static final Map<String, Set<String>> ALLOWED = Map.ofEntries(
            Map.entry("core", Set.of()),
            Map.entry("metric", Set.of("core")),
            Map.entry("admin", Set.of("core")),
            Map.entry("access", Set.of("core")),
            Map.entry("access-ldap", Set.of("core", "access")),
            Map.entry("access-sql", Set.of("core", "access")),
            Map.entry("access-redis", Set.of("core", "access")),
            Map.entry("bridge", Set.of("core")),
            Map.entry("rules", Set.of("core")),
            Map.entry("sink-jdbc", Set.of("core", "rules")),
            Map.entry("sink-kafka", Set.of("core", "rules")),
            Map.entry("sink-rabbitmq", Set.of("core", "rules")),
            Map.entry("sink-redis", Set.of("core", "rules")),
            Map.entry("cluster", Set.of("core")),
            Map.entry("persistence", Set.of("core")),
            Map.entry("replication", Set.of("core", "cluster", "persistence")),
            Map.entry(
                    "bootstrap",
                    Set.of(
                            "core",
                            "metric",
                            "admin",
                            "access",
                            "bridge",
                            "rules",
                            "cluster",
                            "persistence",
                            "migrate",
                            "bench")),
            Map.entry("spring", Set.of("core", "metric", "admin", "cluster", "persistence")),
            Map.entry("test", Set.of("core")),
            Map.entry("migrate", Set.of("core", "admin")),
            Map.entry("bench", Set.of()),
            Map.entry("benchmark", Set.of("core", "metric", "rules")));

    /** Where a module is not called as its package. */
    private static final Map<String, String> DIRECTORIES = Map.of("spring", "spring-boot-starter");

    private static final Edges EDGES = new Edges(ALLOWED, ModuleEdgesTest::module);
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void everyModuleHoldsOnlyItsOwnPackages() {
        ALLOWED.keySet().forEach(module -> {
            JavaClasses classes = classesOf(module);
            assertThat(classes).as("classes of smqtt-%s", module).isNotEmpty();
            assertThat(classes)
                    .allSatisfy(
                            type -> assertThat(module(type.getPackageName())).isEqualTo(module));
        });
    }

    @Test
    void modulesUseOnlyWhatTheTableAllows() {
        ALLOWED.keySet()
                .forEach(module -> assertThat(EDGES.violations(classesOf(module)))
                        .as("edges of smqtt-%s", module)
                        .isEmpty());
    }

    @Test
    void aWrongEdgeIsFound() {
        Edges closed =
                new Edges(Map.of("it", Set.of()), name -> name.equals("io.smqtt.architecture") ? "core" : module(name));
        JavaClasses here = new ClassFileImporter().importClasses(ModuleEdgesTest.class);

        assertThat(closed.violations(here)).isNotEmpty();
    }

    /** An application has neither of them by the starter, which shows the view at its actuator endpoint. */
    @Test
    void theViewOfTheBrokerNeedsNeitherHttpServerNorJsonLibrary() {
        JavaClasses admin = classesOf("admin");
        Set<JavaClass> reached = new LinkedHashSet<>();
        Deque<JavaClass> open = new ArrayDeque<>();
        for (String root : List.of("BrokerView", "Fields", "Bounded")) {
            open.add(admin.get("io.smqtt.admin." + root));
        }
        while (!open.isEmpty()) {
            JavaClass next = open.remove();
            if (reached.add(next) && next.getPackageName().equals("io.smqtt.admin")) {
                next.getDirectDependenciesFromSelf()
                        .forEach(dependency ->
                                open.add(dependency.getTargetClass().getBaseComponentType()));
            }
        }

        assertThat(reached)
                .hasSizeGreaterThan(10)
                .extracting(JavaClass::getPackageName)
                .noneMatch(name -> name.startsWith("com.fasterxml.") || name.startsWith("reactor.netty."));
    }

    private static JavaClasses classesOf(String module) {
        return new ClassFileImporter()
                .importPath(ROOT.resolve("smqtt-" + DIRECTORIES.getOrDefault(module, module))
                        .resolve("target/classes"));
    }

    private static String module(String packageName) {
        if (!packageName.equals("io.smqtt") && !packageName.startsWith("io.smqtt.")) {
            return Edges.ELSEWHERE;
        }
        String[] names = packageName.split("\\.");
        String extension = names.length > 3 ? names[2] + "-" + names[3] : "";
        if (ALLOWED.containsKey(extension)) {
            return extension;
        }
        // io.smqtt.access itself is the core's; the packages below it are those of smqtt-access.
        String below = names.length < 3 || packageName.equals("io.smqtt.access") ? "core" : names[2];
        return ALLOWED.containsKey(below) || below.equals("it") ? below : "core";
    }
}
