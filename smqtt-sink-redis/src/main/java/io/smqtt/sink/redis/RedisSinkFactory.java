// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.List;

/** Makes sinks of the type {@code redis}, which send a command for each row. */
public final class RedisSinkFactory implements SinkFactory {

    static final String URL = "url";
    static final String MODE = "mode";
    static final String MASTER = "sentinel-master";
    static final String USERNAME = "username";
    static final String PASSWORD = "password-file";
    static final String DATABASE = "database";
    static final String CA = "ca";
    private static final String COMMAND = "command";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RedisSinkFactory() {}

    @Override
    public String type() {
        return "redis";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                                URL,
                                null,
                                "the server, `redis://HOST:PORT` or `rediss://HOST:PORT`; several with spaces between them for the other modes")
                        .required(),
                SinkSetting.choice(
                        MODE,
                        "single",
                        List.of("single", "sentinel", "cluster"),
                        "what is at `url`: a `single` server, `sentinel`s, or nodes of a `cluster`"),
                SinkSetting.text(MASTER, null, "the name of the master that sentinels are asked for"),
                SinkSetting.text(USERNAME, null, "the user of Redis; without it the default user"),
                SinkSetting.file(PASSWORD, "a file whose first line is the password of the user"),
                SinkSetting.text(
                        "sentinel-" + USERNAME, null, "the user of the sentinels; without it the default user"),
                SinkSetting.file("sentinel-" + PASSWORD, "a file whose first line is the password of the sentinels"),
                SinkSetting.number(DATABASE, 0, 0, 65_535, "the number of the database"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"),
                SinkSetting.template(
                                COMMAND,
                                null,
                                "the command of a row, such as `XADD readings * t ${t}`: each word is one argument; a word with spaces stands in double quotes")
                        .required());
    }

    @Override
    public Sink open(SinkContext context) {
        CommandTemplate command = command(context);
        return new RedisSink(new RedisConnection(RedisServers.of(context)), command);
    }

    private static CommandTemplate command(SinkContext context) {
        try {
            return CommandTemplate.parse(context.settings().text(COMMAND), text -> context.template(COMMAND, text));
        } catch (IllegalArgumentException e) {
            throw context.settings().problem(COMMAND, String.valueOf(e.getMessage()));
        }
    }
}
