// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * No code and no test gives its work to the common pool: on two cores that is one thread, and since Java 25 {@link CompletableFuture}
 * uses it even then, so that a task that waits for another one there waits for ever.
 */
class CommonPoolTest {

    private static final Set<String> STAGES =
            Set.of(CompletableFuture.class.getName(), CompletionStage.class.getName());
    private static final ArchRule RULE = noClasses()
            .should()
            .callMethodWhere(describe("the common pool runs the task", CommonPoolTest::isOnCommonPool));

    @Test
    void nothingRunsOnTheCommonPool() throws IOException {
        Path root = Path.of("..").toAbsolutePath().normalize();
        List<Path> compiled;
        try (Stream<Path> modules = Files.list(root)) {
            compiled = modules.filter(module -> module.getFileName().toString().startsWith("smqtt-"))
                    .flatMap(module ->
                            Stream.of("target/classes", "target/test-classes").map(module::resolve))
                    .filter(Files::isDirectory)
                    .toList();
        }
        JavaClasses classes = new ClassFileImporter().importPaths(compiled);

        assertThat(classes.contain("io.smqtt.Broker")).isTrue();
        RULE.check(classes.that(
                describe("are not of this test", type -> !type.getName().startsWith(CommonPoolTest.class.getName()))));
    }

    @Test
    void aTaskOfTheCommonPoolIsFound() {
        JavaClasses offender = new ClassFileImporter().importClasses(Offender.class);

        assertThat(RULE.evaluate(offender).getFailureReport().getDetails()).hasSize(2);
    }

    private static boolean isOnCommonPool(JavaCall<?> call) {
        return STAGES.contains(call.getTargetOwner().getName())
                && call.getName().endsWith("Async")
                && call.getTarget().getRawParameterTypes().stream()
                        .noneMatch(type -> type.isEquivalentTo(Executor.class));
    }

    /** Does what is forbidden. */
    private static final class Offender {

        CompletableFuture<Void> run(Runnable task) {
            return CompletableFuture.runAsync(task, Runnable::run).thenRunAsync(task);
        }

        CompletableFuture<Object> later() {
            return CompletableFuture.supplyAsync(Object::new);
        }
    }
}
