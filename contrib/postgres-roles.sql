-- Run once by the image of PostgreSQL, as the owner, when the database is made.
\getenv password READER_PASSWORD

create schema dossier;
create role reader login password :'password';
grant usage on schema dossier to reader;
alter default privileges in schema dossier grant select on tables to reader;
