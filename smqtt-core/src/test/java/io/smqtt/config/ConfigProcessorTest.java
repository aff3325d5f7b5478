// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the build makes of the source of a record, with the processor that it has compiled. */
class ConfigProcessorTest {

    private final DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();

    @Test
    void textsAreTakenFromTheJavadoc(@TempDir Path classes) throws IOException {
        process("""
                /**
                 * A block.
                 *
                 * @param first {@code ${user}} or {@code a\\b},
                 *     on two lines
                 * @param second the other
                 */
                @io.smqtt.config.ConfigBlock("example")
                record Example(int first, String second) {}
                """, classes);

        assertThat(problems.getDiagnostics()).isEmpty();
        assertThat(classes.resolve("example/Example.properties"))
                .hasContent("first=`${user}` or `a\\\\b`, on two lines\nsecond=the other\n");
        assertThat(Files.exists(classes.resolve("example/ExampleBuilder.java"))).isFalse();
    }

    @Test
    void aComponentWithoutATextIsAnError(@TempDir Path classes) {
        process("""
                /**
                 * A block.
                 *
                 * @param first the first
                 */
                @io.smqtt.config.ConfigBlock("example")
                record Example(int first, String second) {}
                """, classes);

        assertThat(problems.getDiagnostics())
                .singleElement()
                .asString()
                .contains("the Javadoc of the record has no @param for second");
    }

    private void process(String record, Path classes) {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
        JavaFileObject source =
                new SimpleJavaFileObject(URI.create("string:///example/Example.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return "package example;\n" + record;
                    }
                };
        List<String> options = List.of(
                "-d",
                classes.toString(),
                "-proc:only",
                "-processor",
                "io.smqtt.config.processor.ConfigProcessor",
                "-processorpath",
                "target/processor",
                "-classpath",
                System.getProperty("java.class.path"));
        compiler.getTask(null, null, problems, options, null, List.of(source)).call();
    }
}
