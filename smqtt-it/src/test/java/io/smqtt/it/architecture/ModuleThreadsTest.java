// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.smqtt.architecture.ThreadConfinement;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No method leaves the thread that its annotation names, also not into another module. */
class ModuleThreadsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void noMethodLeavesItsThread() {
        List<Path> modules = Stream.of(
                        "core",
                        "access",
                        "access-ldap",
                        "access-redis",
                        "bridge",
                        "sink-kafka",
                        "sink-rabbitmq",
                        "cluster",
                        "persistence",
                        "replication",
                        "metric",
                        "admin",
                        "bootstrap")
                .map(module -> ROOT.resolve("smqtt-" + module).resolve("target/classes"))
                .toList();
        JavaClasses classes = new ClassFileImporter().importPaths(modules);

        assertThat(ThreadConfinement.annotated(classes)).isGreaterThan(700);
        assertThat(ThreadConfinement.violations(classes)).isEmpty();
    }
}
