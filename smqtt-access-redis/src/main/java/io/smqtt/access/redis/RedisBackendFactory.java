// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.access.hash.PasswordFormat;
import java.util.ArrayList;
import java.util.List;

/** Makes backends of the type {@code redis}. */
public final class RedisBackendFactory implements AccessBackendFactory {

    private static final String GO_AUTH = "go-auth";

    /** The database of mosquitto-go-auth if none is configured; its documentation names another one. */
    private static final int GO_AUTH_DATABASE = 1;

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RedisBackendFactory() {}

    @Override
    public String type() {
        return "redis";
    }

    @Override
    public List<BackendSetting> settings() {
        List<BackendSetting> settings = new ArrayList<>(List.of(
                BackendSetting.choice(
                        "style", "emqx", List.of("emqx", GO_AUTH), "the keys and values: `emqx` or `go-auth`"),
                BackendSetting.list(
                                "url",
                                "the server, `redis://HOST:PORT` or `rediss://HOST:PORT`; several for the other modes")
                        .required(),
                BackendSetting.choice(
                        "mode",
                        "single",
                        List.of("single", "sentinel", "cluster"),
                        "what is at `url`: a `single` server, `sentinel`s, or nodes of a `cluster`"),
                BackendSetting.text("sentinel-master", "the name of the master that sentinels are asked for"),
                BackendSetting.text("username", "the user of Redis; without it the default user"),
                BackendSetting.text("password", "the password of the user").secret(),
                BackendSetting.file("password-file", "a file with the password of the user"),
                BackendSetting.text("sentinel-username", "the user of the sentinels; without it the default user"),
                BackendSetting.text("sentinel-password", "the password of the sentinels")
                        .secret(),
                BackendSetting.file("sentinel-password-file", "a file with the password of the sentinels"),
                BackendSetting.number(
                        "database", 0, 0, 65_535, "the number of the database; with `go-auth` 1 if it is not set"),
                BackendSetting.flag("superusers", true, "`go-auth`: whether `NAME:su` is read"),
                BackendSetting.file(
                        "ca", "certificates of the authorities that are trusted, in PEM; without it those of Java"),
                BackendSetting.text(
                        "cmd",
                        "HMGET mqtt_user:${username} password_hash salt is_superuser",
                        "`emqx`: the command that reads a user, `HMGET` or `HGET`"),
                BackendSetting.text(
                        "acl.cmd",
                        "HGETALL mqtt_acl:${username}",
                        "`emqx`: the command that reads rules, `HGETALL`, `HMGET` or `HGET`")));
        settings.addAll(PasswordFormat.settings());
        return settings;
    }

    @Override
    public AccessBackend open(BackendSettings settings, BackendContext context) {
        boolean goAuth = settings.text("style").equals(GO_AUTH);
        for (String key : List.of("cmd", "acl.cmd")) {
            if (goAuth && settings.has(key)) {
                throw settings.problem(key, "is for style: emqx");
            }
        }
        if (!goAuth && settings.has("superusers")) {
            throw settings.problem("superusers", "is for style: go-auth");
        }
        KeyLayout keys = goAuth ? new GoAuthKeys(settings.flag("superusers")) : EmqxKeys.of(settings);
        PasswordFormat format = PasswordFormat.of(settings, goAuth ? "auto" : "sha256");
        boolean first =
                goAuth && !settings.has("database") && !settings.text("mode").equals("cluster");
        long database = first ? GO_AUTH_DATABASE : settings.number("database");
        RedisServers servers = RedisServers.of(settings, context, (int) database);
        return new RedisBackend(
                new LettuceRedis(servers), keys, new PasswordChecks(format, context), servers.passwords());
    }
}
