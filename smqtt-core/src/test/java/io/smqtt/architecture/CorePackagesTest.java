// SPDX-License-Identifier: Apache-2.0
package io.smqtt.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.smqtt.architecture.fixture.lower.Lower;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The packages of the core: who may import whom, what the core may use from outside, and that no ring exists. */
class CorePackagesTest {

    private static final String ROOT = "root";

    /** Each package with all that it may import. What is not written here is forbidden. */
    private static final Map<String, Set<String>> ALLOWED = Map.ofEntries(
            Map.entry("thread", Set.of()),
            Map.entry("topic", Set.of()),
            Map.entry("message", Set.of("thread", "topic")),
            Map.entry("log", Set.of("thread", "message")),
            Map.entry("bytes", Set.of("thread", "message", "topic")),
            Map.entry("codec", Set.of("thread", "message", "topic")),
            Map.entry("config", Set.of("thread", "message", "topic")),
            Map.entry("spi", Set.of("thread", "config", "message", "topic")),
            Map.entry("overload", Set.of("thread", "config", "spi")),
            Map.entry("access", Set.of("thread", "log", "config", "spi", "message", "topic")),
            Map.entry("trace", Set.of("thread", "spi", "message", "topic")),
            Map.entry("routing", Set.of("thread", "log", "trace", "config", "spi", "message", "topic")),
            Map.entry("session", Set.of("thread", "log", "trace", "routing", "config", "spi", "message", "topic")),
            Map.entry(
                    "connection",
                    Set.of(
                            "thread",
                            "log",
                            "trace",
                            "session",
                            "routing",
                            "overload",
                            "codec",
                            "config",
                            "spi",
                            "message",
                            "topic")),
            Map.entry(
                    "transport",
                    Set.of(
                            "thread",
                            "connection",
                            "overload",
                            "session",
                            "routing",
                            "access",
                            "config",
                            "spi",
                            "message",
                            "topic")),
            Map.entry(
                    ROOT,
                    Set.of(
                            "thread",
                            "transport",
                            "connection",
                            "session",
                            "routing",
                            "overload",
                            "trace",
                            "access",
                            "codec",
                            "config",
                            "spi",
                            "message",
                            "topic")));

    /** What the core may use from outside. Neither Netty's MQTT codec, nor a logging backend, nor JSON. */
    private static final String[] OUTSIDE = {
        "java..",
        "javax..",
        "jdk.net",
        "io.netty.bootstrap..",
        "io.netty.buffer..",
        "io.netty.channel..",
        "io.netty.handler.codec",
        "io.netty.handler.codec.haproxy..",
        "io.netty.handler.codec.http..",
        "io.netty.handler.ssl..",
        "io.netty.handler.timeout..",
        "io.netty.util..",
        "reactor..",
        "org.reactivestreams..",
        "com.github.benmanes.caffeine..",
        "com.google.re2j..",
        "org.slf4j..",
        "org.jspecify.annotations..",
    };

    private static final Edges EDGES = new Edges(ALLOWED, name -> part("io.smqtt", name));
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackagesOf(io.smqtt.Broker.class);

    private static final Edges FIXTURE_EDGES = new Edges(
            Map.of("upper", Set.of("middle"), "middle", Set.of("lower"), "lower", Set.of()),
            name -> part("io.smqtt.architecture.fixture", name));
    private static final JavaClasses FIXTURE = new ClassFileImporter().importPackages("io.smqtt.architecture.fixture");

    @Test
    void everyPackageIsInTheTable() {
        assertThat(CORE).isNotEmpty();
        assertThat(EDGES.unknownParts(CORE)).isEmpty();
    }

    @Test
    void packagesImportOnlyWhatTheTableAllows() {
        assertThat(EDGES.violations(CORE)).isEmpty();
    }

    @Test
    void packagesFormNoRing() {
        slices().matching("io.smqtt.(**)").should().beFreeOfCycles().check(CORE);
    }

    @Test
    void theCoreUsesNothingFromOutsideButItsDeclaredDependencies() {
        ArchRule rule = classes()
                .should()
                .onlyDependOnClassesThat(DescribedPredicate.describe("are declared", CorePackagesTest::isDeclared));

        rule.check(CORE);
    }

    @Test
    void aWrongEdgeIsFound() {
        assertThat(FIXTURE_EDGES.violations(FIXTURE))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).contains(Lower.class.getName()));
    }

    @Test
    void aRingIsFound() {
        ArchRule noRing =
                slices().matching("io.smqtt.architecture.fixture.(*)").should().beFreeOfCycles();

        assertThatThrownBy(() -> noRing.check(FIXTURE)).isInstanceOf(AssertionError.class);
    }

    @Test
    void anUnlistedPackageIsFound() {
        Edges without = new Edges(Map.of("upper", Set.of(), "lower", Set.of()), FIXTURE_EDGES.partOf());

        assertThat(without.unknownParts(FIXTURE)).containsExactly("middle");
    }

    private static boolean isDeclared(JavaClass target) {
        JavaClass type = target.getBaseComponentType();
        return type.isPrimitive()
                || !part("io.smqtt", type.getPackageName()).equals(Edges.ELSEWHERE)
                || JavaClass.Predicates.resideInAnyPackage(OUTSIDE).test(type);
    }

    private static String part(String base, String packageName) {
        if (packageName.equals(base)) {
            return ROOT;
        }
        if (!packageName.startsWith(base + ".")) {
            return Edges.ELSEWHERE;
        }
        String below = packageName.substring(base.length() + 1);
        int dot = below.indexOf('.');
        return dot < 0 ? below : below.substring(0, dot);
    }
}
