// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** JSON by Jackson 2. */
final class Jackson2Payloads implements PayloadConverter {

    private final ObjectMapper mapper;

    Jackson2Payloads(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public @Nullable Object read(byte[] payload, Type type) {
        try {
            return mapper.readValue(payload, mapper.constructType(type));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public byte[] write(Object value) {
        try {
            return mapper.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
