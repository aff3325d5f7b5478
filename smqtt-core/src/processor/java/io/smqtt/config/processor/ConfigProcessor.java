// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config.processor;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Element;
import javax.lang.model.element.RecordComponentElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.util.ElementFilter;
import javax.tools.Diagnostic;
import javax.tools.StandardLocation;

/**
 * Writes what follows from the source of a record with {@code ConfigBlock}: its texts as a file of properties beside the
 * class, and the builder of a record that has a method {@code toBuilder}. A component without a text is an error. Runs while
 * the project is built, and is in no jar.
 */
@SupportedAnnotationTypes("io.smqtt.config.ConfigBlock")
public final class ConfigProcessor extends AbstractProcessor {

    /** Makes the processor, for the compiler. */
    public ConfigProcessor() {}

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latestSupported();
    }

    @Override
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        for (TypeElement annotation : annotations) {
            for (TypeElement record : ElementFilter.typesIn(round.getElementsAnnotatedWith(annotation))) {
                write(record);
            }
        }
        return true;
    }

    private void write(TypeElement record) {
        String comment = processingEnv.getElementUtils().getDocComment(record);
        Map<String, String> texts = ParamTexts.of(comment == null ? "" : comment);
        for (RecordComponentElement component : record.getRecordComponents()) {
            if (!texts.containsKey(component.getSimpleName().toString())) {
                refuse("the Javadoc of the record has no @param for " + component, component.getEnclosingElement());
                return;
            }
        }
        try {
            writeTexts(record, texts);
            if (ElementFilter.methodsIn(record.getEnclosedElements()).stream()
                    .anyMatch(method -> method.getSimpleName().contentEquals("toBuilder"))) {
                writeBuilder(record, texts);
            }
        } catch (IOException e) {
            refuse("cannot write: " + e, record);
        }
    }

    private void refuse(String problem, Element where) {
        processingEnv.getMessager().printMessage(Diagnostic.Kind.ERROR, problem, where);
    }

    private void writeTexts(TypeElement record, Map<String, String> texts) throws IOException {
        String binaryName =
                processingEnv.getElementUtils().getBinaryName(record).toString();
        String packageName = packageOf(record);
        String file = binaryName.substring(packageName.length() + 1) + ".properties";
        try (Writer out = processingEnv
                .getFiler()
                .createResource(StandardLocation.CLASS_OUTPUT, packageName, file, record)
                .openWriter()) {
            for (RecordComponentElement component : record.getRecordComponents()) {
                String name = component.getSimpleName().toString();
                out.write(name + "=" + ParamTexts.plain(texts.get(name)).replace("\\", "\\\\") + "\n");
            }
        }
    }

    private String packageOf(TypeElement record) {
        return processingEnv
                .getElementUtils()
                .getPackageOf(record)
                .getQualifiedName()
                .toString();
    }

    private void writeBuilder(TypeElement record, Map<String, String> texts) throws IOException {
        String name = record.getSimpleName().toString();
        StringBuilder methods = new StringBuilder();
        List<? extends RecordComponentElement> components = record.getRecordComponents();
        for (int i = 0; i < components.size(); i++) {
            String component = components.get(i).getSimpleName().toString();
            String text = texts.get(component);
            String type = typeOf(components.get(i));
            methods.append(SETTER.formatted(name, component, text, type, i));
            if (type.startsWith("java.util.Map<")) { // from names to blocks
                String block = type.substring(type.indexOf(',') + 1, type.length() - 1);
                String one = component.substring(0, component.length() - 1);
                methods.append(ENTRY.formatted(name, one, block, i));
            }
        }
        try (Writer out = processingEnv
                .getFiler()
                .createSourceFile(packageOf(record) + "." + name + "Builder", record)
                .openWriter()) {
            out.write(BUILDER.formatted(packageOf(record), name, methods));
        }
    }

    /** The type with all names in full, and the annotation that says that null is allowed where the language wants it. */
    private static String typeOf(RecordComponentElement component) {
        String type = component.asType().toString().replaceAll("@[\\w.]+ ", "");
        int arguments = type.indexOf('<');
        int name = type.lastIndexOf('.', arguments < 0 ? type.length() : arguments) + 1;
        String annotations = component.asType().getAnnotationMirrors().stream()
                .map(annotation -> annotation + " ")
                .collect(Collectors.joining());
        return type.substring(0, name) + annotations + type.substring(name);
    }

    private static final String BUILDER = """
            // SPDX-License-Identifier: Apache-2.0
            package %1$s;

            import javax.annotation.processing.Generated;

            /** Collects values for a new {@link %2$s}. Not safe for several threads. */
            @Generated("io.smqtt.config.processor.ConfigProcessor")
            public final class %2$sBuilder {

                private final BlockValues<%2$s> values;

                %2$sBuilder() {
                    values = BlockValues.defaults(%2$s.class);
                }

                %2$sBuilder(%2$s from) {
                    values = BlockValues.of(%2$s.class, from);
                }
            %3$s
                /**
                 * Makes the configuration.
                 *
                 * @return a new one
                 * @throws ConfigurationException if a value is missing or out of its range
                 */
                public %2$s build() {
                    return values.build();
                }
            }
            """;

    private static final String SETTER = """

                /**
                 * Sets {@link %1$s#%2$s()}: %3$s.
                 *
                 * @param value the new value
                 * @return this
                 */
                public %1$sBuilder %2$s(%4$s value) {
                    values.set(%5$d, value);
                    return this;
                }
            """;

    private static final String ENTRY = """

                /**
                 * Adds or replaces one %2$s.
                 *
                 * @param name letters a to z, digits and hyphens
                 * @param %2$s its options
                 * @return this
                 */
                public %1$sBuilder %2$s(String name, %3$s %2$s) {
                    values.put(%4$d, name, %2$s);
                    return this;
                }
            """;
}
