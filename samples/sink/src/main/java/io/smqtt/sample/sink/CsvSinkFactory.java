// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample.sink;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import java.util.List;
import java.util.regex.Pattern;

/** Makes sinks of the type {@code csv}. The broker finds it by META-INF/services/io.smqtt.rules.sink.SinkFactory. */
public final class CsvSinkFactory implements SinkFactory {

    private static final String PATH = "path";
    private static final String COLUMNS = "columns";
    private static final String SEPARATOR = "separator";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public CsvSinkFactory() {}

    @Override
    public String type() {
        return "csv";
    }

    /** The broker checks values by these declarations, and makes a form of them in the dashboard. */
    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.file(PATH, "the file").required(),
                SinkSetting.text(COLUMNS, null, "the columns of the row, such as `time,clientid,t`")
                        .required(),
                SinkSetting.choice(
                        SEPARATOR, "comma", List.of("comma", "semicolon", "tab"), "`comma`, `semicolon` or `tab`"));
    }

    /** Checks what the declarations cannot say. Nothing is opened or started here: the broker calls it also to check a configuration. */
    @Override
    public Sink open(SinkContext context) {
        SinkSettings settings = context.settings();
        String separator = switch (settings.text(SEPARATOR)) {
            case "semicolon" -> ";";
            case "tab" -> "\t";
            default -> ",";
        };
        List<String> columns = Pattern.compile(",")
                .splitAsStream(settings.text(COLUMNS))
                .map(String::strip)
                .toList();
        if (columns.contains("")) {
            ConfigurationException problem = settings.problem(COLUMNS, "has a column without a name");
            throw problem; // with the line of the file
        }
        return new CsvSink(settings.file(PATH), columns, separator);
    }
}
