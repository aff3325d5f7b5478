// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Makes sinks of the type {@code file}, which append a line for each row. */
public final class FileSinkFactory implements SinkFactory {

    static final String LINE = "line";
    private static final String PATH = "path";
    private static final String MAX_BYTES = "max-bytes";
    private static final String MAX_FILES = "max-files";
    private static final String GZIP = "gzip";
    private static final String SYNC = "sync";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public FileSinkFactory() {}

    @Override
    public String type() {
        return "file";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.file(PATH, "the file").required(),
                SinkSetting.template(LINE, null, "the line as JSON; by default the row"),
                SinkSetting.size(
                        MAX_BYTES, "64MiB", "1KiB", "1TiB", "the size at which the file is renamed to `<path>.1`"),
                SinkSetting.number(MAX_FILES, 10, 0, 1_000, "former files that are kept; the oldest is removed"),
                SinkSetting.flag(GZIP, false, "whether former files are compressed, as `<path>.1.gz`"),
                SinkSetting.flag(
                        SYNC, true, "whether a batch counts as written only when it is on stable storage (fsync)"));
    }

    @Override
    public List<String> writtenFiles() {
        return List.of(PATH);
    }

    @Override
    public Sink open(SinkContext context) {
        SinkSettings settings = context.settings();
        Path path = Objects.requireNonNull(settings.file(PATH));
        RotatingFile file = new RotatingFile(
                path,
                settings.bytes(MAX_BYTES),
                Math.toIntExact(settings.number(MAX_FILES)),
                settings.flag(GZIP),
                settings.flag(SYNC));
        return new FileSink(context.label(), file, settings.templateOrNull(LINE));
    }
}
