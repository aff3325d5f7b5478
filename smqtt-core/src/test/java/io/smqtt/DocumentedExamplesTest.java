// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Examples of the first page and of the Javadoc compile with the imports that they show. */
class DocumentedExamplesTest {

    private static final Path SOURCES = Path.of("src/main/java");
    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern JAVADOC = Pattern.compile("<pre>\\{@code\\n(.*?)\\n \\* }</pre>", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("import (?:static )?([\\w.]+);");

    /** An example, and where it stands. */
    private record Example(String where, String text) {

        @Override
        public String toString() {
            return where;
        }
    }

    static List<Example> examples() throws IOException {
        List<Example> all = new ArrayList<>();
        for (String page : List.of("README.md", "README.zh-CN.md")) {
            Matcher blocks = BLOCK.matcher(Files.readString(Path.of("..", page)));
            while (blocks.find()) {
                all.add(new Example(page, blocks.group(1)));
            }
        }
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                Matcher blocks = JAVADOC.matcher(Files.readString(file));
                while (blocks.find()) {
                    String text = blocks.group(1).replaceAll("(?m)^ \\* ?", "");
                    all.add(new Example(SOURCES.relativize(file).toString(), text));
                }
            }
        }
        return all;
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("examples")
    void theExampleCompiles(Example example, @TempDir Path classes) {
        StringBuilder imports = new StringBuilder();
        StringBuilder body = new StringBuilder();
        example.text
                .lines()
                .forEach(line -> (line.startsWith("import ") ? imports : body)
                        .append(line)
                        .append('\n'));
        assertThat(imports).isNotEmpty();
        boolean members = body.toString().strip().startsWith("static ");
        String code = imports
                + "class Example {"
                + (members ? body.toString() : "void run() throws Exception {" + body + "}")
                + "}";
        JavaFileObject source =
                new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return code;
                    }
                };
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        List<String> options =
                List.of("-d", classes.toString(), "-proc:none", "-classpath", System.getProperty("java.class.path"));
        boolean compiled = compiler.getTask(null, null, problems, options, null, List.of(source))
                .call();
        assertThat(compiled).as("%s%n%s", code, problems.getDiagnostics()).isTrue();
    }

    @Test
    void theImportsOfThePageOnEmbeddingAreThere() throws IOException {
        Matcher imports = IMPORT.matcher(Files.readString(Path.of("../docs/embedding.md")));
        int count = 0;
        while (imports.find()) {
            count++;
            String name = imports.group(1);
            if (!name.startsWith("io.smqtt.persistence.")) { // which is behind this module
                assertThat(exists(name)).as(name).isTrue();
            }
        }
        assertThat(count).isGreaterThan(20);
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name, false, DocumentedExamplesTest.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            int dot = name.lastIndexOf('.');
            return Character.isUpperCase(name.charAt(name.lastIndexOf('.', dot - 1) + 1))
                    && exists(name.substring(0, dot) + '$' + name.substring(dot + 1));
        }
    }
}
