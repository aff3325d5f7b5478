// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.List;

/** Makes sinks of the type {@code influxdb}, which write points by the line protocol to InfluxDB 1, 2 and 3. */
public final class InfluxSinkFactory implements SinkFactory {

    static final String URL = "url";
    static final String VERSION = "version";
    static final String DATABASE = "database";
    static final String RETENTION = "retention-policy";
    static final String ORG = "org";
    static final String BUCKET = "bucket";
    static final String USERNAME = "username";
    static final String PASSWORD = "password-file";
    static final String TOKEN = "token-file";
    static final String MEASUREMENT = "measurement";
    static final String TAGS = "tags";
    static final String FIELDS = "fields";
    static final String TIME = "timestamp";
    static final String PRECISION = "precision";
    static final String GZIP = "gzip";
    static final String CA = "ca";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public InfluxSinkFactory() {}

    @Override
    public String type() {
        return "influxdb";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(URL, null, "the server, such as `http://127.0.0.1:8086`")
                        .required(),
                SinkSetting.choice(VERSION, "v2", List.of("v1", "v2", "v3"), "the API: `v1`, `v2` or `v3`"),
                SinkSetting.text(DATABASE, null, "`v1`, `v3`: the database"),
                SinkSetting.text(RETENTION, null, "`v1`: the retention policy"),
                SinkSetting.text(ORG, null, "`v2`: the organization"),
                SinkSetting.text(BUCKET, null, "`v2`: the bucket"),
                SinkSetting.text(USERNAME, null, "`v1`: the user"),
                SinkSetting.file(PASSWORD, "`v1`: a file whose first line is the password"),
                SinkSetting.file(TOKEN, "`v2`, `v3`: a file whose first line is the token"),
                SinkSetting.template(MEASUREMENT, null, "the measurement").required(),
                SinkSetting.entries(TAGS, "tags; one whose value is absent or empty is left out"),
                SinkSetting.entries(
                        FIELDS,
                        "fields; a placeholder alone keeps the type of its value, and one whose value is absent is left out. Without any, the columns of the row are fields"),
                SinkSetting.template(TIME, null, "the time; by default that of the server"),
                SinkSetting.choice(PRECISION, "ms", List.of("s", "ms", "us", "ns"), "the unit of `timestamp`"),
                SinkSetting.flag(GZIP, false, "whether bodies are compressed"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"));
    }

    @Override
    public Sink open(SinkContext context) {
        return new InfluxSink(context);
    }
}
